/** Settings: browsers in which the person is signed in. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { SessionEntry } from "../../../../src/accounts/sessions/schema.ts";
import { dashboard, unwrapData } from "../../../data/client.ts";
import { queryClient } from "../../../data/query.ts";
import { Loaded, Panel } from "../../../components/page.tsx";
import { Time } from "../../../components/display/time.tsx";
import { notifyError, notify } from "../../../components/toasts.tsx";
import { sessionsQuery } from "../data.ts";
import { Entry } from "../entry.tsx";
import { describeBrowser } from "./browser-name.ts";
import { t, tNode } from "../../../language/text.ts";

export function Sessions() {
  const query = useQuery(sessionsQuery);
  const others = query.data?.filter(({ current }) => !current) ?? [];
  return (
    <Panel
      title={t("Where you are signed in")}
      isFlush
      actions={
        others.length > 0 && (
          <Button size="xs" onClick={() => endOtherSessions().catch(notifyError)}>
            {t("Sign out everywhere else")}
          </Button>
        )
      }
    >
      <Loaded query={query} subject={t("The sessions")}>
        {(sessions) => (
          <ul className="entries">
            {sessions.toSorted(compareOwnFirst).map((session) => (
              <SessionRow key={session.id} session={session} />
            ))}
          </ul>
        )}
      </Loaded>
    </Panel>
  );
}

const compareOwnFirst = (one: SessionEntry, other: SessionEntry) =>
  Number(other.current) - Number(one.current);

function SessionRow({ session }: { session: SessionEntry }) {
  const { id, current, createdAt, lastSeenAt, address, userAgent } = session;
  const browser = describeBrowser(userAgent);
  return (
    <Entry
      icon="screen"
      title={
        <>
          {browser}
          {current && <span className="up"> {t("(this one)")}</span>}
        </>
      }
      note={tNode("from {address}, since {time}", {
        address,
        time: <Time at={createdAt} as="short" />,
      })}
      facts={[[t("Last seen"), current ? t("now") : <Time at={lastSeenAt} />]]}
      action={
        !current && (
          <Button
            size="xs"
            aria-label={t("Sign out {browser} from {address}", { browser, address })}
            onClick={() => endSession(id, browser).catch(notifyError)}
          >
            {t("Sign out")}
          </Button>
        )
      }
    />
  );
}

async function endSession(id: string, browser: string) {
  await unwrapData(dashboard.sessions({ id }).delete());
  notify(t("Signed out of {browser}", { browser }));
}

async function endOtherSessions() {
  const remaining = await unwrapData(dashboard.sessions["end-others"].post());
  queryClient.setQueryData(sessionsQuery.queryKey, remaining);
  notify(t("Signed out everywhere else"));
}
