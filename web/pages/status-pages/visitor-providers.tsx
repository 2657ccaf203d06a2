/** Sign-in providers whose accounts can see a status page, without being members. */
import { Checkbox, Input, TagsInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { dashboard } from "../../data/client.ts";
import { createDataQuery } from "../../data/query.ts";
import type { StatusPage } from "../../data/status-pages.ts";
import { t } from "../../language/text.ts";

const providersQuery = createDataQuery(["sign-in-providers"], (options) =>
  dashboard.identities.providers.get(options),
);

type Value = StatusPage["visitorProviders"];

export function VisitorProviders({
  value,
  onChange,
  error,
}: {
  value: Value;
  onChange: (value: Value) => void;
  error: string | undefined;
}) {
  const { data: providers = [] } = useQuery(providersQuery);
  if (providers.length === 0) return null;
  const change = (providerId: string, domains: string[] | null) =>
    onChange([
      ...value.filter((one) => one.providerId !== providerId),
      ...(domains === null ? [] : [{ providerId, domains }]),
    ]);
  return (
    <Input.Wrapper
      label={t("Visitors without an account here")}
      labelElement="div"
      description={t("They sign in at a provider, and see only this page.")}
      error={error}
    >
      <div className="visitor-providers">
        {providers.map(({ id, name }) => {
          const chosen = value.find(({ providerId }) => providerId === id);
          return (
            <div key={id}>
              <Checkbox
                label={t("Accounts at {name}", { name })}
                checked={chosen !== undefined}
                onChange={({ currentTarget: { checked } }) => change(id, checked ? [] : null)}
              />
              {chosen !== undefined && (
                <TagsInput
                  aria-label={t("E-mail domains of accounts at {name}", { name })}
                  placeholder={chosen.domains.length === 0 ? t("All accounts, or a domain") : ""}
                  value={chosen.domains}
                  onChange={(domains) => change(id, domains)}
                />
              )}
            </div>
          );
        })}
      </div>
    </Input.Wrapper>
  );
}
