/* Saves data that the page has made as a file of the user. */

export function saveFile(blob: Blob, name: string): void {
	const link = document.createElement('a');
	link.href = URL.createObjectURL(blob);
	link.download = name;
	link.click();
	// The browser reads the URL after the click.
	setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
