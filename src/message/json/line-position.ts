import { CR, LF, SPACE, TAB } from './bytes.ts';

/** The line that a scan has reached, and its indentation. */
export class LinePosition {
  /** Number, from 1, of the line that the scan has reached. */
  line: number;
  /** Number of spaces and tabs at the start of the line that `passBlank` has passed so far. */
  indent = 0;
  /** Whether the line has had only white space so far. */
  isBlank = true;

  constructor(line: number) {
    this.line = line;
  }

  /** Updates the position for a byte. Returns whether the byte is white space; any other byte ends the indentation. */
  passBlank(byte: number | undefined): boolean {
    switch (byte) {
      case LF:
        this.line++;
        this.indent = 0;
        this.isBlank = true;
        return true;
      case SPACE:
      case TAB:
        if (this.isBlank) this.indent++;
        return true;
      case CR:
        return true;
      default:
        this.isBlank = false;
        return false;
    }
  }
}
