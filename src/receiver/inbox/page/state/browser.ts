/** Puts a text on the clipboard. Rejects, with the reason, where the browser does not allow it. */
export async function copyText(text: string): Promise<void> {
  // Browsers have it only for https and for this machine.
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  // Deprecated, but the only way in an insecure context.
  const isCopied = document.execCommand('copy');
  field.remove();
  if (!isCopied) throw new Error('the browser does not let the page copy');
}

/** Saves a file as a browser saves one that is downloaded. */
export function saveFile(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The download has begun once the click is handled.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
