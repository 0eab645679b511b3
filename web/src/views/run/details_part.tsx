/* A part of the details with its title. */
import type { ComponentChildren } from 'preact';

export function Part(props: { title: string; children: ComponentChildren }) {
	return (
		<section class="details-part">
			<h2>{props.title}</h2>
			{props.children}
		</section>
	);
}
