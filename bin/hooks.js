#!/usr/bin/env node
// CommonJS (see package.json beside it): Node starts it in half the time.
void require('../dist/cli/main.cjs').main(process);
