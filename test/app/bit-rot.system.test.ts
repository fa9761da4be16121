// Takes minutes on a busy machine: 260 damaged files, some of which never become idle.
import { bitRot } from './bit-rot.ts';

bitRot({ flips: 200, logFlips: 60 });
