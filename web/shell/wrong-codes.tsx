/** The banner that warns of wrong two-factor codes. It loads only if there were any. */
import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { dashboard, unwrapData } from "../data/client.ts";
import { renewSession, type Session } from "../data/session.ts";
import { formatCount } from "../components/display/format.ts";
import { Icon } from "../components/display/icons.tsx";
import { Time } from "../components/display/time.tsx";
import { notifyError } from "../components/toasts.tsx";
import { t, tNode } from "../language/text.ts";

type Codes = NonNullable<NonNullable<Session["person"]>["wrongCodes"]>;

/** Warns of wrong two-factor codes after a correct password, until the person dismisses it. */
export default function WrongCodes({ codes }: { codes: Codes }) {
  const { count, since, lastAt, lastFrom } = codes;
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
