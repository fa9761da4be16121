import { CR, LF, SPACE, TAB } from './bytes.ts';

/** The line that a scan has reached, and its indentation. */
export class LinePosition {
  /** From 1. */
  line: number;
  /** Blanks at the beginning of the line, as far as `passBlank` has seen them. */
  indent = 0;
  /** Only white space so far. */
  isBlank = true;

  constructor(line: number) {
    this.line = line;
  }

  /** Whether the byte is white space, which it then counts; any other makes the line one that is not blank. */
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
