/** Ends a command with this exit code, which says something beyond success and failure; a message goes to stderr. */
export class Exit extends Error {
  readonly code: number;

  constructor(code: number, message = "") {
    super(message);
    this.code = code;
  }
}
