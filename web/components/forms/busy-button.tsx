import { Button, type ButtonProps } from "@mantine/core";
import type { ComponentPropsWithRef, MouseEvent } from "react";

type Props = ButtonProps & Omit<ComponentPropsWithRef<"button">, keyof ButtonProps>;

/**
 * A button that ignores clicks while `loading`. Unlike a disabled button, it does not lose the
 * focus.
 */
export function BusyButton({ loading = false, disabled = false, ...props }: Props) {
  return (
    <Button
      {...props}
      loading={loading}
      disabled={disabled}
      renderRoot={(root) => (
        <button
          {...root}
          disabled={disabled}
          aria-disabled={loading || undefined}
          onClick={loading ? (event: MouseEvent) => event.preventDefault() : root["onClick"]}
        />
      )}
    />
  );
}
