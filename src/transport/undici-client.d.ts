// Declared here, because undici declares types only for its main module.
declare module 'undici/lib/dispatcher/client.js' {
  import type { Client } from 'undici';
  const client: typeof Client;
  export default client;
}
