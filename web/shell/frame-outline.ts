import { useLayoutEffect } from "react";

/** Removes the outline of the frame, which the HTML shows until the script has rendered something. */
export const useReplacedOutline = () =>
  useLayoutEffect(() => document.getElementById("frame-outline")?.remove(), []);
