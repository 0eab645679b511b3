/* Shown instead of a blank area: why there is nothing to show, and what to do. */
import type { ComponentChildren } from 'preact';
import './states.css';

export function Empty(props: { title: string; children?: ComponentChildren }) {
	return (
		<div class="state">
			<h2>{props.title}</h2>
			{props.children}
		</div>
	);
}

export function Loading(props: { what: string }) {
	return (
		<div class="state" role="status">
			<span class="spinner" aria-hidden="true" />
			<p>{props.what}</p>
		</div>
	);
}

export function Problem(props: {
	error: Error | string;
	again?: () => void;
	children?: ComponentChildren;
}) {
	return (
		<div class="state" role="alert">
			<h2>This could not be shown</h2>
			<p>{typeof props.error === 'string' ? props.error : props.error.message}</p>
			{props.again && <button onClick={props.again}>Try again</button>}
			{props.children}
		</div>
	);
}
