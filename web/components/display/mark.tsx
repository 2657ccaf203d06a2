import { useEffect } from "react";
import type { State } from "./state-icon.tsx";

/**
 * Angle of the signal arm in degrees: horizontal for down, half raised for degraded, raised
 * otherwise.
 */
function angleOf(state: State): number {
  if (state === "down") return 0;
  return state === "degraded" ? -20 : -40;
}

export function Mark({ state, size = 24 }: { state: State; size?: number }) {
  return (
    <svg
      className="mark"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      aria-hidden="true"
    >
      <path d="M6.5 22V8M3.5 22h6" stroke="currentColor" strokeWidth="2.2" strokeLinecap="round" />
      <g className="mark-arm" style={{ transform: `rotate(${angleOf(state)}deg)` }}>
        <path d="M6.5 10.4h14.2l-1.9 2.6 1.9 2.6H6.5z" fill="var(--accent)" />
        <path d="M15.6 10.4v5.2" stroke="var(--bg)" strokeWidth="1.5" />
      </g>
      <circle cx="6.5" cy="13" r="2.2" fill="currentColor" />
    </svg>
  );
}

const tones: Partial<Record<State, string>> = { down: "#c2273b", degraded: "#b87400" };

/** Draws the signal arm as the favicon, in the color of the state. */
export function useFavicon(state: State) {
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (link === null) return;
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="${tones[state] ?? "#2f4fd8"}"/><path d="M10 27V10" stroke="#fff" stroke-width="3" stroke-linecap="round"/><path d="M10 10.5h17l-2.2 3 2.2 3H10z" transform="rotate(${angleOf(state)} 10 13.5)" fill="#fff"/></svg>`;
    link.href = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  }, [state]);
}
