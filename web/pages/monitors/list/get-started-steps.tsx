/** The steps to set up a new appliance. */
import { ActionIcon, Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useAlertChannels } from "../../../data/alert-channels.ts";
import { useStatusPages } from "../../../data/status-pages.ts";
import { openDialog } from "../../../components/open-dialog.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { Panel } from "../../../components/page.tsx";
import { peopleQuery } from "../../settings/data.ts";
import { t, tNode } from "../../../language/text.ts";

type Step = { title: string; words: string; isDone: boolean; verb: string; act: () => void };

/** The steps and which of them are done; null while that is unknown. */
function useSteps(): Step[] | null {
  const navigate = useNavigate();
  const { data: channels } = useAlertChannels();
  const { data: pages } = useStatusPages();
  const { data: people } = useQuery(peopleQuery);
  if (channels === undefined || pages === undefined || people === undefined) return null;
  const [page] = pages;
  return [
    {
      title: t("Create a monitor"),
      words: "",
      isDone: true,
      verb: t("Create monitor"),
      act: () => openDialog({ kind: "create-monitor" }),
    },
    {
      title: t("Set up alerts"),
      words: t("One alert channel, and a test message that arrives"),
      isDone: channels.some(({ lastDeliveryAt }) => lastDeliveryAt !== null),
      verb: t("Create alert channel"),
      act: () => openDialog({ kind: "create-channel", type: "" }),
    },
    {
      title: t("Publish a status page"),
      words: t("A status page that your customers can subscribe to"),
      isDone: pages.some(({ sections }) => sections.length > 0),
      verb: page === undefined ? t("Create status page") : t("Edit status page"),
      act: () =>
        void (page === undefined
          ? navigate({ to: "/status-pages", search: { new: "" } })
          : navigate({ to: "/status-pages/$id", params: { id: page.id } })),
    },
    {
      title: t("Invite your team"),
      words: t("Give your colleagues access"),
      isDone: people.length > 1,
      verb: t("Invite people"),
      act: () => void navigate({ href: "/settings/people?new=true" }),
    },
  ];
}

export function Steps({ onHide }: { onHide: () => void }) {
  const steps = useSteps();
  const done = steps?.filter(({ isDone }) => isDone).length;
  if (steps === null || done === steps.length) return null;
  return (
    <Panel
      className="started"
      title={t("Get started")}
      actions={
        <>
          <span className="started-count num">
            {tNode("{done} of {all}", { done, all: steps.length })}
            <progress value={done} max={steps.length} aria-label={t("Steps done")} />
          </span>
          <ActionIcon aria-label={t("Hide")} onClick={onHide} size={24}>
            <Icon name="close" size={14} />
          </ActionIcon>
        </>
      }
    >
      <ol>
        {steps.map(({ title, words, isDone, verb, act }) => (
          <li key={title} className={isDone ? "started-done" : ""}>
            <span className="started-mark">{isDone && <Icon name="check" size={12} />}</span>
            <span>
              <b>{title}</b>
              {isDone ? (
                <span className="visually-hidden"> {t("(done)")}</span>
              ) : (
                <small>{words}</small>
              )}
            </span>
            {!isDone && (
              <Button size="xs" onClick={act}>
                {verb}
              </Button>
            )}
          </li>
        ))}
      </ol>
    </Panel>
  );
}
