/** The last @count lines that are not empty, without terminal escape sequences. */
export function lastLines(text: string, count: number): string[] {
	return text
		.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(\u0007|\u001b\\)/g, '')
		.split(/\r?\n|\r/)
		.map((line) => line.trimEnd())
		.filter((line) => line !== '')
		.slice(-count)
		.map((line) => (line.length > 300 ? line.slice(0, 300) + '…' : line));
}
