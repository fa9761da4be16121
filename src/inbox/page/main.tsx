import { render } from 'preact';
import type { Setup } from '../wire.ts';
import { App } from './app.tsx';

const root = document.getElementById('inbox');
const text = document.querySelector<HTMLMetaElement>('meta[name=setup]')?.content;
// The page is made with both (page-html.ts).
if (root !== null && text !== undefined) render(<App setup={JSON.parse(text) as Setup} />, root);
