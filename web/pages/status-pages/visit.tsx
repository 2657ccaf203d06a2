/** Sends a signed-in person back to the status page that recognizes them. */
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { dashboard, unwrapData } from "../../data/client.ts";
import { Icon } from "../../components/display/icons.tsx";
import { EmptyState, Panel } from "../../components/page.tsx";
import { t } from "../../language/text.ts";

export default function Visit({ visit }: { visit: string }) {
  const { data, error } = useQuery({
    queryKey: ["visit", visit],
    queryFn: () => unwrapData(dashboard["status-pages"].visit.post({ visit })),
    retry: false,
    staleTime: Infinity,
  });
  useEffect(() => {
    if (data !== undefined) location.replace(data.url);
  }, [data]);
  if (error === null) return <p className="quiet">{t("Opening the status page…")}</p>;
  return (
    <Panel>
      <EmptyState
        icon={<Icon name="lock" size={28} />}
        title={t("The status page can't be opened")}
      >
        {error.message}
      </EmptyState>
    </Panel>
  );
}
