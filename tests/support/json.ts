/** Untyped JSON of a request or response; each test asserts its fields. */
// oxlint-disable-next-line typescript/no-explicit-any -- each of its fields is asserted, none is trusted
export type Json = any;
