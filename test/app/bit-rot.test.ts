import { bitRot } from './bit-rot.ts';

// As many as take seconds; test:system has more.
bitRot({ flips: 50, logFlips: 20 });
