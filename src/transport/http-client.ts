// In a module of its own, which the built program loads by `require`: `import()` of a package would first start Node's ES
// module loader.
export { default as HttpClient } from 'undici/lib/dispatcher/client.js';
