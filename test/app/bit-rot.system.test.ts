// Takes minutes on a busy machine: 260 damaged files, of which some never become quiet.
import { bitRot } from './bit-rot.ts';

bitRot({ flips: 200, logFlips: 60 });
