/** What this browser remembers of who used it. */
export const remembered = {
  organization: "signalbox.organization",
  here: "signalbox.here",
};
