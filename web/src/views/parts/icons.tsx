/* Icons for buttons, in the colour of the text. Hidden from screen readers: buttons have labels. */
import { pxToRem } from '../../logic/rem';

const PATHS = {
	search: 'M11 11l3.5 3.5M12 7a5 5 0 1 1-10 0 5 5 0 0 1 10 0z',
	sun: 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1.1 1.1M11.9 11.9 13 13M3 13l1.1-1.1M11.9 4.1 13 3',
	moon: 'M13.5 9.6A6 6 0 0 1 6.4 2.5a6 6 0 1 0 7.1 7.1z',
	close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
	down: 'M3.5 6 8 10.5 12.5 6',
	up: 'M3.5 10 8 5.5 12.5 10',
	right: 'M6 3.5 10.5 8 6 12.5',
	left: 'M10 3.5 5.5 8 10 12.5',
	plus: 'M8 3v10M3 8h10',
	pencil: 'M10.5 3 13 5.5 5.5 13H3v-2.5zM9 4.5 11.5 7',
	trash: 'M2.5 4h11M6 4V2.5h4V4M4 4l.7 9.5h6.6L12 4M6.7 6.5v4.5M9.3 6.5v4.5',
	upload: 'M8 10.5V2.5M4.5 6 8 2.5 11.5 6M2.5 10.5v3h11v-3',
	link: 'M6.5 9.5l3-3M7 4.5 8.8 2.7a3.2 3.2 0 0 1 4.5 4.5L11.5 9M9 11.5l-1.8 1.8a3.2 3.2 0 0 1-4.5-4.5L4.5 7',
	expand: 'M9.5 2.5h4v4M6.5 13.5h-4v-4M13 3 9.5 6.5M3 13l3.5-3.5',
	shrink: 'M13.5 6.5h-4v-4M2.5 9.5h4v4M10 6l3.5-3.5M6 10l-3.5 3.5',
	stop: 'M4 4h8v8H4z',
	repeat:
		'M3 8a5 5 0 0 1 8.8-3.2L13.5 6.5M13.5 2.8v3.7H9.8M13 8a5 5 0 0 1-8.8 3.2L2.5 9.5M2.5 13.2V9.5h3.7',
	play: 'M4.5 2.8v10.4L13 8z',
	bell: 'M4 11V7a4 4 0 0 1 8 0v4l1 1.2H3zM6.7 14h2.6',
	paneLeft: 'M2 3h12v10H2zM6 3v10',
	paneRight: 'M2 3h12v10H2zM10 3v10',
	sliders: 'M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M10.5 3v3M5.5 10v3',
	list: 'M5.5 4h8.5M5.5 8h8.5M5.5 12h8.5M2 4h.5M2 8h.5M2 12h.5',
	chart: 'M2 13.5h12M4 11V7.5M7 11V3.5M10 11V6M13 11V8.5',
	check: 'M3 8.5 6.5 12 13 4.5',
	warning: 'M8 2.5 14.5 13.5h-13zM8 6.5v3.5M8 11.7v.3',
	dots: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon(props: { name: IconName; size?: number }) {
	const size = pxToRem((props.size ?? 16) + 'px');
	return (
		<svg
			class="icon"
			width={size}
			height={size}
			viewBox="0 0 16 16"
			fill="none"
			stroke="currentColor"
			stroke-width="1.5"
			stroke-linecap="round"
			stroke-linejoin="round"
			aria-hidden="true"
		>
			<path d={PATHS[props.name]} />
		</svg>
	);
}

/** The needle of a rev counter. */
export function Logo(props: { size?: number }) {
	const size = pxToRem((props.size ?? 24) + 'px');
	return (
		<svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
			<rect width="32" height="32" rx="7" fill="#0b6e75" />
			<g fill="none" stroke-width="3" stroke-linecap="round">
				<path d="M6 21a10 10 0 0 1 20 0" stroke="#bfeef0" />
				<path d="M16 21 22 11" stroke="#ffb454" />
			</g>
			<circle cx="16" cy="21" r="2.6" fill="#ffb454" />
		</svg>
	);
}
