/** JSON that somebody sent or answered, as it came: each test says what it expects of it. */
// oxlint-disable-next-line typescript/no-explicit-any -- each of its fields is asserted, none is trusted
export type Json = any;
