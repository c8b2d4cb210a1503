export const sql = `
CREATE TABLE modules (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  version TEXT NOT NULL,
  is_core INTEGER NOT NULL CHECK (is_core IN (0, 1)),
  is_enabled INTEGER NOT NULL CHECK (is_enabled IN (0, 1)),
  backend TEXT,
  nav_label TEXT,
  nav_icon TEXT,
  nav_href TEXT,
  nav_order INTEGER NOT NULL,
  repository TEXT,
  "commit" TEXT,
  installed_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK (is_core = 0 OR is_enabled = 1)
);

CREATE TABLE deployments (
  id TEXT PRIMARY KEY,
  module TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('building', 'replacing', 'restarting', 'done', 'failed', 'rolled_back')),
  place TEXT NOT NULL,
  owner TEXT NOT NULL,
  tries INTEGER NOT NULL DEFAULT 0,
  before TEXT,
  files_before INTEGER NOT NULL,
  log TEXT NOT NULL DEFAULT '[]',
  error TEXT,
  started_at TEXT NOT NULL,
  finished_at TEXT
);

-- One at a time for each folder of modules.
CREATE UNIQUE INDEX open_deployments ON deployments (place) WHERE finished_at IS NULL;

INSERT INTO modules (id, name, description, version, is_core, is_enabled, nav_label, nav_icon, nav_href, nav_order,
                     installed_at, updated_at)
SELECT id, name, description, '', 1, 1, name, icon, href, place, at, at FROM
  (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now') AS at),
  (SELECT 'dashboard' AS id, 'Tableau de bord' AS name, 'L’état de l’hôte et de ses conteneurs en un coup d’œil.'
            AS description, 'dashboard' AS icon, '/' AS href, 10 AS place
   UNION ALL SELECT 'updates', 'Mises à jour', 'Les paquets à mettre à jour sur l’hôte et dans chaque conteneur.',
            'updates', '/updates', 20
   UNION ALL SELECT 'terminal', 'Terminal', 'Une ligne de commande sur l’hôte ou dans un conteneur.',
            'terminal', '/terminal', 30
   UNION ALL SELECT 'hypervisor', 'Conteneurs', 'Démarrer et arrêter les conteneurs de l’hôte.',
            'hypervisor', '/hypervisor', 40
   UNION ALL SELECT 'registry', 'Modules', 'Installer et réparer des modules.', 'modules', '/modules', 50
   UNION ALL SELECT 'settings', 'Réglages', 'Les réglages du panneau.', 'settings', '/settings', 60);
`
