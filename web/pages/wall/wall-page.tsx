/** The wall: a full-screen overview for TVs. */
import { useMantineColorScheme } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useEffect, useLayoutEffect } from "react";
import { v1 } from "../../data/client.ts";
import { listKey } from "../../data/keys.ts";
import { followLive } from "../../data/live.ts";
import type { IncidentSummary } from "../../../src/incidents/schema.ts";
import {
  createPastOverviewQuery,
  type Overview,
  useOverallState,
  useOverview,
} from "../../data/overview.ts";
import { createPageQuery } from "../../data/query.ts";
import { useSession, useSignedInPerson } from "../../data/session.ts";
import { useFavicon } from "../../components/display/mark.tsx";
import { AsOf, Times } from "../../components/display/time.tsx";
import { SignInDialog } from "../../shell/sign-in.tsx";
import { useMaintenanceEnd } from "../maintenance/current-windows.ts";
import { Tiles, TroubleTiles } from "./tiles.tsx";
import { followUpgrades } from "./upgrades.ts";
import { WallControls, WallPast } from "./wall-controls.tsx";
import { OpenIncidents, WallHead } from "./wall-head.tsx";
import { useAttention } from "../../data/problems.ts";
import { buildTiles, listTroubled } from "./wall-rules.ts";

/** The overview for an unattended screen. */
export default function WallPage() {
  const { data } = useSession();
  return data?.state === "signed-in" && data.organizations.length > 0 ? <Wall /> : null;
}

function Wall() {
  const { organization, person } = useSignedInPerson();
  const { theme, at } = useSearch({ strict: false }) as { theme?: string; at?: string };
  const isLight = theme === "light";
  useWallScheme(isLight ? "light" : "dark");
  const { data: presentOverview } = useOverview();
  const past = useQuery(createPastOverviewQuery(at, {}));
  const overview = at === undefined ? presentOverview : past.data;
  const { data: open, isLoading } = useQuery(
    createPageQuery([...listKey("incident"), "wall"], (options) =>
      v1.incidents.get({ query: { open: "true", per_page: 20 }, ...options }),
    ),
  );
  const maintenanceEnd = useMaintenanceEnd(
    organization.timeZone,
    overview?.monitors.some(({ status }) => status === "maintenance") ?? false,
  );
  useEffect(() => followLive(organization.id), [organization.id]);
  useEffect(followUpgrades, []);
  useEffect(keepScreenAwake, []);
  useFavicon(useOverallState());
  useDocumentTitle(`${organization.name} – Signalbox`);
  const isReady = overview !== undefined && !isLoading;
  const incidents = at === undefined ? open?.data : overview?.openIncidents;
  const total = at === undefined ? open?.meta.total : incidents?.length;
  return (
    <Times zone={organization.timeZone} hourCycle={person.hourCycle}>
      <AsOf value={at === undefined ? null : Date.parse(at)}>
        <main className="wall">
          {at !== undefined && <WallPast at={at} error={past.error} />}
          {isReady && past.error === null && (
            <Content
              overview={overview}
              incidents={incidents ?? []}
              total={total ?? 0}
              maintenanceEnd={at === undefined ? maintenanceEnd : ""}
              at={at}
            />
          )}
          <WallControls light={isLight} isPast={at !== undefined} />
        </main>
      </AsOf>
      <SignInDialog />
    </Times>
  );
}

function Content({
  overview,
  incidents,
  total,
  maintenanceEnd,
  at,
}: {
  overview: Overview;
  incidents: readonly IncidentSummary[];
  total: number;
  maintenanceEnd: string;
  at: string | undefined;
}) {
  const isPast = at !== undefined;
  const { data: attention } = useAttention();
  const trouble = listTroubled(overview, isPast ? undefined : attention);
  return (
    <>
      <WallHead overview={overview} at={at} />
      {trouble.length > 0 && (
        <TroubleTiles monitors={trouble} groups={overview.groups} isPast={isPast} />
      )}
      {incidents.length > 0 && <OpenIncidents incidents={incidents} total={total} />}
      <Tiles
        tiles={buildTiles(overview, maintenanceEnd)}
        isBeside={trouble.length > 0}
        isPast={isPast}
      />
    </>
  );
}

/** Prevents the screen from turning off, if the browser allows it (HTTPS or localhost only). */
function keepScreenAwake(): () => void {
  let lock: WakeLockSentinel | null = null;
  let isStopped = false;
  async function requestLock() {
    if (document.hidden || isStopped || !("wakeLock" in navigator)) return;
    try {
      lock = await navigator.wakeLock.request("screen");
      if (isStopped) await lock.release();
    } catch {
      // The system refuses, for example to save power.
    }
  }
  void requestLock();
  document.addEventListener("visibilitychange", requestLock);
  return () => {
    isStopped = true;
    document.removeEventListener("visibilitychange", requestLock);
    void lock?.release();
  };
}

/** Sets the wall's theme (default: dark), independent of the theme chosen in this browser. */
function useWallScheme(scheme: "light" | "dark") {
  const { colorScheme } = useMantineColorScheme();
  useLayoutEffect(() => {
    const { dataset } = document.documentElement;
    const before = dataset["mantineColorScheme"];
    dataset["mantineColorScheme"] = scheme;
    return () => {
      dataset["mantineColorScheme"] = before;
    };
  }, [scheme, colorScheme]);
}
