import { testScreens } from './gallery_test';

testScreens('desktop');
