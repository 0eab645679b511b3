/* The title of the page says what runs: "● 12 s gcc – tacho". */
import { effect } from '@preact/signals';
import { pageTitle } from '../logic/page_title';
import { run, session } from './runs';

let timer = 0;

function show(): void {
	document.title = pageTitle(run.peek(), session.peek()?.title ?? null, Date.now());
}

effect(() => {
	const goesOn = run.value?.state === 'running';
	void session.value;
	show();
	clearInterval(timer);
	if (goesOn) timer = window.setInterval(show, 1000);
});
