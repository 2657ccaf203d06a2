/** States of monitors: icons, labels, words and their order by severity. */
import type { ReactNode } from "react";
import { t } from "../../language/text.ts";

export type State = "up" | "degraded" | "down" | "maintenance" | "paused" | "pending" | "unknown";

/** Label of each state, the same on all pages. */
export const stateLabels: Record<State, string> = {
  up: t("Up"),
  degraded: t("Degraded"),
  down: t("Down"),
  maintenance: t("Maintenance"),
  paused: t("Paused"),
  pending: t("Pending"),
  unknown: t("Not judged"),
};

/** Names of states within a sentence, such as `3 down`. */
export const stateWords: Record<State, string> = {
  up: t("up"),
  degraded: t("degraded"),
  down: t("down"),
  maintenance: t("maintenance"),
  paused: t("paused"),
  pending: t("pending"),
  unknown: t("not judged"),
};

const cutOut = {
  stroke: "var(--panel)",
  strokeWidth: 1.6,
  strokeLinecap: "round",
  strokeLinejoin: "round",
} as const;

const renderRing = (extra: object) => (
  <circle cx="8" cy="8" r="6.2" stroke="currentColor" strokeWidth="1.6" {...extra} />
);

const shapes: Record<State, ReactNode> = {
  up: (
    <>
      <circle cx="8" cy="8" r="7" fill="currentColor" />
      <path d="M5 8.3 7.1 10.4 11 6.2" {...cutOut} />
    </>
  ),
  degraded: (
    <>
      <path
        d="M8 1.2 15.2 14H.8z"
        fill="currentColor"
        stroke="currentColor"
        strokeWidth="1.2"
        strokeLinejoin="round"
      />
      <path d="M8 6v3.6M8 11.8v.01" {...cutOut} />
    </>
  ),
  down: (
    <>
      <path d="M5 .9h6L15.1 5v6L11 15.1H5L.9 11V5z" fill="currentColor" />
      <path d="m5.6 5.6 4.8 4.8m0-4.8-4.8 4.8" {...cutOut} />
    </>
  ),
  maintenance: (
    <>
      <rect x="1" y="1" width="14" height="14" rx="4" fill="currentColor" />
      <circle cx="8" cy="8" r="4" {...cutOut} strokeWidth="1.4" />
      <path d="M8 5.9V8l1.5 1" {...cutOut} strokeWidth="1.4" />
    </>
  ),
  paused: (
    <>
      {renderRing({})}
      <path
        d="M6.4 5.8v4.4M9.6 5.8v4.4"
        stroke="currentColor"
        strokeWidth="1.6"
        strokeLinecap="round"
      />
    </>
  ),
  pending: renderRing({ strokeDasharray: "2.4 2.5" }),
  unknown: renderRing({ strokeDasharray: "2.4 2.5" }),
};

/** Draws a state as shape and color. Set `label` if no text next to the icon names the state. */
export function StateIcon({
  state,
  size = 16,
  label,
}: {
  state: State;
  size?: number;
  label?: boolean;
}) {
  return (
    <svg
      className={`state-icon ${state}`}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      {...(label === true
        ? { role: "img", "aria-label": stateLabels[state] }
        : { "aria-hidden": true })}
    >
      {shapes[state]}
    </svg>
  );
}

/**
 * All states, the most severe first. Groups, the logo and the favicon show the worst state of their
 * monitors.
 */
export const worstFirst: State[] = [
  "down",
  "degraded",
  "maintenance",
  "pending",
  "unknown",
  "up",
  "paused",
];

export function findWorst(states: Iterable<State>): State {
  let worst = worstFirst.length;
  for (const state of states) worst = Math.min(worst, worstFirst.indexOf(state));
  return worstFirst[worst] ?? "pending";
}
