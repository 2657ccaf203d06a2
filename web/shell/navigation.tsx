import { Link, useLocation } from "@tanstack/react-router";
import { useCounts, useOverallState } from "../data/overview.ts";
import { Icon, type IconName } from "../parts/icons.tsx";
import { router } from "../router.tsx";
import { Mark } from "../parts/mark.tsx";
import { stateWords } from "../parts/state-icon.tsx";
import { PersonMenu } from "./person-menu.tsx";

export type Place = { to: string; label: string; icon: IconName; keys: string };

const all: Place[] = [
  { to: "/monitors", label: "Monitors", icon: "pulse", keys: "g m" },
  { to: "/incidents", label: "Incidents", icon: "warning", keys: "g i" },
  { to: "/maintenance", label: "Maintenance", icon: "calendar", keys: "g w" },
  { to: "/alert-channels", label: "Alert channels", icon: "bell", keys: "g c" },
  { to: "/status-pages", label: "Status pages", icon: "page", keys: "g s" },
  { to: "/settings", label: "Settings", icon: "settings", keys: "g ," },
];

/** Where one can go, as far as the router knows it; the phone has the middle of the list in its menu. */
export const places = (): Place[] => all.filter(({ to }) => to in router.routesByPath);

export function Navigation({ onHelp }: { onHelp: () => void }) {
  const state = useOverallState();
  const { monitors, openIncidents } = useCounts();
  const path = useLocation({ select: ({ pathname }) => pathname });
  const current = path === "/" ? "/monitors" : path;
  const counts: Record<string, { count: number | null; hot: boolean }> = {
    "/monitors": { count: monitors, hot: false },
    "/incidents": { count: openIncidents, hot: true },
  };
  return (
    <nav className="rail" aria-label="Main">
      <Link to="/" className="rail-brand">
        <Mark state={state} />
        <b>Signalbox</b>
        <span className="visually-hidden">, overall: {stateWords[state]}</span>
      </Link>
      {places().map(({ to, label, icon }, index, { length }) => {
        const { count = null, hot = false } = counts[to] ?? {};
        const here = current === to || current.startsWith(`${to}/`);
        return (
          <Link
            key={to}
            to={to}
            className={`rail-link ${index === length - 1 && to === "/settings" ? "rail-last" : ""} ${index > 2 && index < length - 1 ? "rail-more" : ""}`}
            {...(here && { "aria-current": "page" as const })}
          >
            <Icon name={icon} size={18} />
            <span>{label}</span>
            {count !== null && count > 0 && (
              <em className={`num ${hot ? "rail-hot" : ""}`}>
                {count}
                {hot && <span className="visually-hidden"> open</span>}
              </em>
            )}
          </Link>
        );
      })}
      <PersonMenu onHelp={onHelp} />
    </nav>
  );
}
