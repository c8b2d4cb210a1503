export const containers = {
  title: 'Conteneurs',
  running: 'En marche',
  stopped: 'Arrêté',
  locked: (lock: string) => `Verrouillé (${lock})`,
}
