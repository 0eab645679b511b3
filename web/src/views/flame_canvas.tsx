/* A flame graph on a canvas: plain or differential. Zoom, search and colours come from outside, so
 * that the address bar can hold them; pan, hover and the keyboard are its own affair. */
import type { Colour } from '../logic/address';
import type { FlameGraph } from '../logic/flame_layout';

export interface FlameAction {
	label: string;
	/** A key that does it while the graph has the focus. */
	key?: string;
	run: () => void;
}

export interface FlameCanvasProps {
	/** Made by layOutTree(), layOutDiff() …; make it once for each answer (useMemo), not each render. */
	graph: FlameGraph;
	/** What this graph is about, for those who hear it. */
	label: string;
	/** 'change': red for more, blue with stripes for less; for differentials. */
	colour: Colour | 'change';
	/** Where the root stands. */
	root: 'top' | 'bottom';
	/** Path of the node that is zoomed to (address.focus). */
	focus: string | null;
	onFocus: (path: string | null) => void;
	/** Text, or /regular expression/: what matches is marked. */
	search?: string | null;
	/** What can be done with a function, beside zooming and copying its stack. */
	actions?: (name: string, module: string) => FlameAction[];
	/** A graph that was not there before has been painted. */
	onDrawn?: (graph: FlameGraph) => void;
}
