import { Switch, TextInput } from "@mantine/core";
import { PasswordField } from "./password-field.tsx";
import { placeholderOf, type StoredSecrets } from "./stored-secrets.ts";

/** A password that is cleared is null, one that is kept is absent. */
type Login = { username: string; password?: string | null };

/** A user name with a password that is never shown; off is null. */
export function LoginField({
  name,
  label,
  error,
  value,
  onChange,
  secrets,
}: {
  name: string;
  label: string;
  error: string | undefined;
  value: Login | null;
  onChange: (login: Login | null) => void;
  secrets: StoredSecrets;
}) {
  const path = `${name}.password`;
  const issue = secrets.errorOf(path);
  return (
    <div className="login-field">
      <Switch
        label={label}
        checked={value !== null}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? { username: "" } : null)}
      />
      {value !== null && (
        <div className="field-row">
          <TextInput
            label="User name"
            autoComplete="off"
            error={issue === undefined && error}
            value={value.username}
            onChange={({ currentTarget }) => onChange({ ...value, username: currentTarget.value })}
          />
          <PasswordField
            label="Password"
            autoComplete="off"
            placeholder={placeholderOf(secrets, path)}
            error={issue}
            value={value.password ?? ""}
            onChange={({ currentTarget }) => {
              const { password: _, ...rest } = value;
              const password = currentTarget.value;
              onChange(password === "" ? rest : { ...rest, password });
            }}
          />
        </div>
      )}
    </div>
  );
}
