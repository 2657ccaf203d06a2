import { Link, useLocation } from "@tanstack/react-router";
import { useCounts, useOverallState } from "../data/overview.ts";
import { Icon } from "../components/icons.tsx";
import { Mark } from "../components/mark.tsx";
import { stateLabels } from "../components/state-icon.tsx";
import { useNavigationItems } from "./navigation-items.ts";
import { PersonMenu } from "./person-menu.tsx";

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
        <span className="visually-hidden">, overall: {stateLabels[state]}</span>
      </Link>
      {useNavigationItems().map(({ to, label, icon }, index, { length }) => {
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
