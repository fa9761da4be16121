import { createHash } from 'node:crypto';
import type { Setup } from './wire.ts';

/** The script and the style that the build makes of page/. */
export interface PageParts {
  readonly script: string;
  readonly style: string;
}

/** Creates the HTML page of the inbox. It contains its script, style and icon, and loads only data of the inbox. */
export function pageHtml({ script, style }: PageParts, setup: Setup): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Inbox · hooks</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="setup" content="${escaped(JSON.stringify(setup))}">
<link rel="icon" href="${ICON}">
<style>${style}</style>
<div id="inbox"></div>
<noscript>The inbox needs JavaScript. Without it, run <code>hooks listen -o json</code>.</noscript>
<script>${script}</script>
</html>
`;
}

/** Allows only the script and the style of the page, by hash, so that no received body can inject others. */
export function contentPolicy({ script, style }: PageParts): string {
  return [
    "default-src 'none'",
    `script-src '${hash(script)}'`,
    `style-src '${hash(style)}'`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
}

function hash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

/** Icon of the page. Without one, browsers request /favicon.ico, which would appear as a received request. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 9l2-6h8l2 6v4H2z M2 9h3.5a2.5 2.5 0 0 0 5 0H14" fill="none" stroke="#0f766e" stroke-width="1.6" stroke-linejoin="round"/></svg>',
)}`;
