/* Views that the first screen does not need: loaded when they are opened, or about to be. */
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { Loading, Problem } from './states';

/** @what is the text while it loads: "Functions …". `prepare` loads the view before it is shown. */
export function lazy<P extends object = object>(
	what: string,
	load: () => Promise<ComponentType<P>>,
) {
	const view = signal<ComponentType<P> | null>(null);
	const failed = signal(false);
	let asked = false;
	const prepare = () => {
		if (asked) return;
		asked = true;
		failed.value = false;
		load()
			.then((loaded) => (view.value = loaded))
			.catch(() => {
				asked = false;
				failed.value = true;
			});
	};
	const Lazy = (props: P) => {
		useEffect(prepare, []);
		const View = view.value;
		if (View) return <View {...props} />;
		if (!failed.value) return <Loading what={what} />;
		return <Problem error="This part of the page could not be fetched." again={prepare} />;
	};
	return Object.assign(Lazy, { prepare });
}
