import { bitRot } from './bit-rot.ts';

// Enough for a few seconds; test:system flips more bits.
bitRot({ flips: 50, logFlips: 20 });
