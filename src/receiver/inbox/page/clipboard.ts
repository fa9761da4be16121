/** Rejects, with the reason, where the browser does not allow it. */
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
