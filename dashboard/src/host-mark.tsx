/** The hue of a host, the same in all views; neighbouring numbers are far apart. */
export function hostHue(host: number): number {
  return Math.round((210 + host * 137.5) % 360);
}

export function HostMark({ host }: { host: number | null }) {
  if (host === null) return null;
  return (
    <span class="host-mark" style={{ "--hue": hostHue(host) }} title={`on host ${host}`}>
      <span class="unseen">host </span>
      {host}
    </span>
  );
}
