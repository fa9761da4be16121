// What the bundle has for undici: its Client alone, without fetch, WebSocket and caches, which nothing here uses.
export { default as Client } from 'undici/lib/dispatcher/client.js';
