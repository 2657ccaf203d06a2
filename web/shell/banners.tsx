/** Banners above every page: lost connection, wrong two-factor codes. */
import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { dashboard, unwrapData } from "../data/client.ts";
import { connection } from "../data/connection.ts";
import { liveState } from "../data/live.ts";
import { renewSession, useSignedInPerson } from "../data/session.ts";
import { Icon } from "../components/display/icons.tsx";
import { Time } from "../components/display/time.tsx";
import { notifyError } from "../components/toasts.tsx";
import { formatCount } from "../components/display/format.ts";
import { t, tNode } from "../language/text.ts";

/** Shows a lost connection after 1.5 s, until it is restored. */
export function ConnectionBanner() {
  const [answers, live] = [connection.use(), liveState.use()];
  const lost = answers === "lost" || live === "lost";
  const [isShown, setIsShown] = useState(false);
  useEffect(() => {
    if (!lost) return setIsShown(false);
    const timer = setTimeout(() => setIsShown(true), 1_500);
    return () => clearTimeout(timer);
  }, [lost]);
  if (!isShown) return null;
  return (
    <div className="banner" role="status">
      <Icon name="warning" />
      <span>
        {t("The connection to Signalbox is lost. This page may be out of date. Reconnecting…")}
      </span>
    </div>
  );
}

/** Warns of wrong two-factor codes after a correct password, until the person dismisses it. */
export function WrongCodes() {
  const { wrongCodes } = useSignedInPerson().person;
  if (wrongCodes === null) return null;
  const { count, since, lastAt, lastFrom } = wrongCodes;
  return (
    <div className="banner" role="status">
      <Icon name="warning" />
      <span>
        {tNode(
          "{entries}, the last {time}{origin}. If this was not you, someone knows your password: {link}.",
          {
            entries:
              count === 1
                ? t("1 wrong two-factor code was entered after your correct password")
                : tNode(
                    "{count} wrong two-factor codes were entered after your correct password, the first {time}",
                    { count: formatCount(count), time: <Time at={since} /> },
                  ),
            time: <Time at={lastAt} />,
            origin: lastFrom !== null && t(" from {address}", { address: lastFrom }),
            link: (
              <Link to="/settings/$section" params={{ section: "profile" }}>
                {t("change it")}
              </Link>
            ),
          },
        )}
      </span>
      <Button size="xs" onClick={() => acknowledgeWrongCodes().catch(notifyError)}>
        {t("Dismiss")}
      </Button>
    </div>
  );
}

async function acknowledgeWrongCodes() {
  await unwrapData(dashboard.profile["wrong-codes"].acknowledge.post());
  await renewSession();
}
