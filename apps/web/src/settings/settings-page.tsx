export function SettingsPage() {
  return <div className="p-4" />;
}
