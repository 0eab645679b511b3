import { render } from 'preact';
import './views/tokens.css';
import './views/base.css';
import './views/controls.css';
import { App } from './views/app';

render(<App />, document.getElementById('app')!);
