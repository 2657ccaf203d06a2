/** Draws the icons of status pages: monitor states, the Signalbox mark and the bell. */
import type { Tone } from "./rendering/view.ts";

/** Shapes of states, which differ in form as well as in color. */
const shapes: Record<Tone, React.ReactNode> = {
  up: (
    <>
      <circle cx="8" cy="8" r="7" fill="currentColor" />
      <path d="M5 8.3 7.1 10.4 11 6.2" className="cut" />
    </>
  ),
  degraded: (
    <>
      <path d="M8 1.2 15.2 14H.8z" fill="currentColor" stroke="currentColor" strokeWidth="1.2" />
      <path d="M8 6v3.6M8 11.4v.9" className="cut" />
    </>
  ),
  down: (
    <>
      <path d="M5 .9h6L15.1 5v6L11 15.1H5L.9 11V5z" fill="currentColor" />
      <path d="m5.6 5.6 4.8 4.8m0-4.8-4.8 4.8" className="cut" />
    </>
  ),
  maintenance: (
    <>
      <rect x="1" y="1" width="14" height="14" rx="4" fill="currentColor" />
      <path d="M8 4.6V8l2 1.4" className="cut" />
    </>
  ),
  none: (
    <circle
      cx="8"
      cy="8"
      r="6.2"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeDasharray="2.4 2.4"
    />
  ),
};

export function StateIcon({ tone, size = 16 }: { tone: Tone; size?: number }) {
  return (
    <svg className={tone} width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      {shapes[tone]}
    </svg>
  );
}

const armAngles: Record<Tone, number> = {
  up: -40,
  none: -40,
  maintenance: -40,
  degraded: -20,
  down: 0,
};

/** The Signalbox mark: a semaphore arm whose angle shows the overall state. */
export function Mark({ tone }: { tone: Tone }) {
  return (
    <svg width="30" height="30" viewBox="0 0 24 24" fill="none" aria-hidden="true">
      <path d="M6.5 22V8M3.5 22h6" stroke="currentColor" strokeWidth="2.2" strokeLinecap="round" />
      <g transform={`rotate(${armAngles[tone]} 6.5 13)`}>
        <path d="M6.5 10.4h14.2l-1.9 2.6 1.9 2.6H6.5z" className="arm" />
      </g>
      <circle cx="6.5" cy="13" r="2.2" fill="currentColor" />
    </svg>
  );
}

export function Bell() {
  return (
    <svg
      width={15}
      height={15}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d="M6 9a6 6 0 1 1 12 0c0 6 2 7 2 7H4s2-1 2-7M10 20a2 2 0 0 0 4 0" />
    </svg>
  );
}
