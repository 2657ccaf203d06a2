import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { dashboard, dataOf } from "../data/client.ts";
import { renewSession, useSignedIn } from "../data/session.ts";
import { plural } from "../components/figures.ts";
import { Icon } from "../components/icons.tsx";
import { Time } from "../components/time.tsx";
import { notifyError } from "../components/toasts.tsx";

/** Tells somebody that another has their password and tries codes, until they say that they know. */
export function WrongCodes() {
  const { wrongCodes } = useSignedIn().person;
  if (wrongCodes === null) return null;
  const { count, since, lastAt, lastFrom } = wrongCodes;
  return (
    <div className="banner" role="status">
      <Icon name="warning" />
      <span>
        {plural(count, "wrong two-factor code")} {count === 1 ? "was" : "were"} entered after your
        correct password
        {count > 1 && (
          <>
            , the first <Time at={since} />
          </>
        )}
        , the last <Time at={lastAt} />
        {lastFrom !== null && ` from ${lastFrom}`}. If this was not you, someone knows your
        password:{" "}
        <Link to="/settings/$section" params={{ section: "profile" }}>
          change it
        </Link>
        .
      </span>
      <Button size="xs" onClick={() => void acknowledge()}>
        Dismiss
      </Button>
    </div>
  );
}

async function acknowledge() {
  try {
    await dataOf(dashboard.profile["wrong-codes"].acknowledge.post());
    await renewSession();
  } catch (error) {
    notifyError(error);
  }
}
