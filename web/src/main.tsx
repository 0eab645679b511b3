import { render } from 'preact';
import './views/app/tokens.css';
import './views/app/base.css';
import './views/app/controls.css';
import { App } from './views/app/app';

render(<App />, document.getElementById('app')!);
