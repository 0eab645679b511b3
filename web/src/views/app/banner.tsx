/* Shown when the server is away, warns of something, or does not accept our token: what happens, and
 * what to do. */
import { connection, hideWarnings, me, retry, retryAt, warnings } from '../../state/server';
import { now, useNow } from '../../state/now';
import { Logo } from '../parts/icons';

export function Banner() {
	const lost = connection.value === 'lost';
	useNow(lost);
	if (!lost) return null;
	const seconds = Math.max(0, Math.ceil((retryAt.value - now.value) / 1000));
	return (
		<div class="banner" role="alert">
			<p>
				<strong>The server does not answer.</strong>{' '}
				<span aria-live="off">
					{retryAt.value && seconds ? `Trying again in ${seconds} s.` : 'Trying again …'}
				</span>{' '}
				What is on the screen stays.
			</p>
			<button onClick={retry}>Try now</button>
		</div>
	);
}

export function Warnings() {
	if (!warnings.value.length) return null;
	return (
		<div class="banner" role="alert">
			{warnings.value.map((text) => (
				<p key={text}>{text}</p>
			))}
			<button onClick={hideWarnings}>Hide</button>
		</div>
	);
}

export function Refused() {
	return (
		<main class="refused">
			<div class="card">
				<Logo size={48} />
				<h1>{me.value ? 'Your token is no longer valid' : 'This page needs a token'}</h1>
				<p>
					{me.value
						? 'The token was revoked, or the server was set up anew.'
						: 'The server accepts only requests with a token.'}{' '}
					Open the address that the server prints when it starts. It looks like this:
				</p>
				<p>
					<code>{location.origin}/?token=…</code>
				</p>
				<p class="dim">
					Each start of the server prints a new token; <code>tacho users token admin</code> prints
					another one for whoever started it. Others ask an administrator for one of their own.
				</p>
				<div>
					<button class="primary" onClick={() => location.reload()}>
						Try again
					</button>
				</div>
			</div>
		</main>
	);
}
