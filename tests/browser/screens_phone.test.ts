import { testScreens } from './gallery_test';

testScreens('phone');
