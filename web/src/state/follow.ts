/* Keeps sessions, runs and the queue up to date. */
import { loadQueue } from './queue';
import { refresh } from './runs';

document.addEventListener('visibilitychange', () => {
	if (document.hidden) return;
	void refresh();
	void loadQueue();
});
