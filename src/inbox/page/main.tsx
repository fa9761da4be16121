import { render } from 'preact';
import type { Setup } from '../wire.ts';
import { App } from './app.tsx';

const root = document.getElementById('inbox');
const text = document.querySelector<HTMLMetaElement>('meta[name=setup]')?.content;
// page-html.ts writes the element and the setup into the page, the setup in this shape.
if (root !== null && text !== undefined) render(<App setup={JSON.parse(text) as Setup} />, root);
