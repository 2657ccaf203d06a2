/** The navigation: its pages, the search button, and the counters next to its labels. */
import { Link, useLocation } from "@tanstack/react-router";
import { useCounts, useOverallState } from "../data/overview.ts";
import { countProblems, useProblems } from "../data/problems.ts";
import { formatCount } from "../components/display/format.ts";
import { Icon } from "../components/display/icons.tsx";
import { Mark } from "../components/display/mark.tsx";
import { stateLabels } from "../components/display/state-icon.tsx";
import { palette } from "../components/open-dialog.ts";
import { KeyHint } from "../components/page.tsx";
import { onPhones, useNavigationItems } from "./navigation-items.ts";
import { PersonMenu } from "./person-menu.tsx";
import { t } from "../language/text.ts";

/** A counter next to a page's label. `word` names the counted things, if there is space. */
type Badge = { count: number; tone: "plain" | "hot" | "warn"; word: string };

export function Navigation({ onHelp }: { onHelp: () => void }) {
  const state = useOverallState();
  const { monitors, openIncidents } = useCounts();
  const { data: problems } = useProblems();
  const path = useLocation({ select: ({ pathname }) => pathname });
  const current = path === "/" ? "/monitors" : path;
  const { onCall, appliance } = countProblems(problems);
  const count = (number: number): Badge => ({
    count: number,
    tone: "warn",
    word: number === 1 ? t("problem") : t("problems"),
  });
  const badges: Record<string, Badge> = {
    "/monitors": { count: monitors ?? 0, tone: "plain", word: "" },
    "/incidents": { count: openIncidents ?? 0, tone: "hot", word: t("open") },
    "/alert-channels": { count: problems?.channels.length ?? 0, tone: "warn", word: t("failing") },
    "/on-call": count(onCall),
    "/settings": count(appliance),
  };
  return (
    <nav className="rail" aria-label={t("Main")}>
      <Link to="/" className="rail-brand">
        <Mark state={state} />
        <b>Signalbox</b>
        <span className="visually-hidden">
          {t(", overall: {state}", { state: stateLabels[state] })}
        </span>
      </Link>
      <SearchButton />
      {useNavigationItems().map(({ to, label, icon }, index, { length }) => {
        const { count = 0, tone = "plain", word = "" } = badges[to] ?? {};
        const isCurrent = current === to || current.startsWith(`${to}/`);
        const tip = count > 0 && word !== "" ? `${label} · ${count} ${word}` : label;
        return (
          <Link
            key={to}
            to={to}
            data-tip={tip}
            className={`rail-link ${index === length - 1 && to === "/settings" ? "rail-last" : ""} ${index < onPhones ? "" : "rail-more"}`}
            {...(isCurrent && { "aria-current": "page" as const })}
          >
            <Icon name={icon} size={18} />
            <span className="rail-label">{label}</span>
            {count > 0 && (
              <em className={`num rail-${tone}`}>
                {formatCount(count)}
                {word !== "" && <span className="rail-word"> {word}</span>}
              </em>
            )}
          </Link>
        );
      })}
      <PersonMenu onHelp={onHelp} />
    </nav>
  );
}

/** Opens the command palette. */
const SearchButton = () => (
  <button
    type="button"
    className="rail-link rail-search"
    data-tip={t("Search")}
    onClick={() => palette.set(true)}
  >
    <Icon name="search" size={18} />
    <span className="rail-label">{t("Search")}</span>
    <KeyHint keys="modK" />
  </button>
);
