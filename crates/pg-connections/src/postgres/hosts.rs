//! The hosts of an address, one by one.

use tokio_postgres::{Config, config::Host};

use super::{PostgresUrl, visible};

/// Where the driver connects to if no port is given.
const PORT: u16 = 5432;

impl PostgresUrl {
    /// Returns the address of each host alone, in their order, with its name for messages: `db1:5432`.
    ///
    /// The driver connects to the first host that is reached, and that can be written if the URL requires it. A caller that then refuses
    /// this server can try the others.
    ///
    /// ```
    /// use pg_connections::PostgresUrl;
    ///
    /// let database = PostgresUrl::parse("postgres://shop@db1,db2:6432/shop?target_session_attrs=read-write")?;
    /// let names: Vec<String> = database.each_host().into_iter().map(|(name, _)| name).collect();
    /// assert_eq!(names, ["db1:5432", "db2:6432"]);
    /// # Ok::<(), pg_connections::InvalidPostgresUrl>(())
    /// ```
    #[must_use]
    pub fn each_host(&self) -> Vec<(String, Self)> {
        let count = self.config.get_hosts().len().max(self.config.get_hostaddrs().len());
        (0..count).map(|at| self.alone(at)).collect()
    }

    fn alone(&self, at: usize) -> (String, Self) {
        let mut config = without_hosts(&self.config);
        let ports = self.config.get_ports();
        let port = ports.get(at).or(ports.first()).copied().unwrap_or(PORT);
        config.port(port);
        let mut name = String::new();
        if let Some(address) = self.config.get_hostaddrs().get(at) {
            name = address.to_string();
            config.hostaddr(*address);
        }
        match self.config.get_hosts().get(at) {
            Some(Host::Tcp(host)) => {
                name.clone_from(host);
                config.host(host);
            }
            #[cfg(unix)]
            Some(Host::Unix(path)) => {
                name = path.display().to_string();
                config.host_path(path);
            }
            None => {}
        }
        let name = if name.contains(':') { format!("[{name}]") } else { visible(&name) };
        (format!("{name}:{port}"), Self { config, ..self.clone() })
    }
}

/// Returns the settings without hosts, which cannot be removed from a configuration.
fn without_hosts(all: &Config) -> Config {
    let mut config = Config::new();
    config
        .ssl_mode(all.get_ssl_mode())
        .ssl_negotiation(all.get_ssl_negotiation())
        .keepalives(all.get_keepalives())
        .keepalives_idle(all.get_keepalives_idle())
        .target_session_attrs(all.get_target_session_attrs())
        .channel_binding(all.get_channel_binding())
        .load_balance_hosts(all.get_load_balance_hosts());
    all.get_user().map(|user| config.user(user));
    all.get_password().map(|password| config.password(password));
    all.get_dbname().map(|name| config.dbname(name));
    all.get_options().map(|options| config.options(options));
    all.get_application_name().map(|name| config.application_name(name));
    all.get_connect_timeout().map(|limit| config.connect_timeout(*limit));
    all.get_tcp_user_timeout().map(|limit| config.tcp_user_timeout(*limit));
    all.get_keepalives_interval().map(|interval| config.keepalives_interval(interval));
    all.get_keepalives_retries().map(|retries| config.keepalives_retries(retries));
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_keeps_its_port_and_every_setting() {
        let settings = "application_name=shop&options=-c%20a%3Db&connect_timeout=3&tcp_user_timeout=4&keepalives_idle=5\
                        &keepalives_interval=6&keepalives_retries=7&target_session_attrs=read-write&channel_binding=require\
                        &load_balance_hosts=random&sslmode=require&sslnegotiation=direct";
        let parsed = |hosts: &str| {
            PostgresUrl::parse(&format!("postgres://shop:hunter2@{hosts}/shop?{settings}")).unwrap().config
        };
        let all = PostgresUrl { config: parsed("db1:1,[::1]:2"), ..PostgresUrl::parse("postgres://x").unwrap() };
        let each = all.each_host();
        let names: Vec<&str> = each.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["db1:1", "[::1]:2"]);
        for ((_, one), alone) in each.iter().zip(["db1:1", "[::1]:2"]) {
            assert_eq!(one.config, parsed(alone));
        }
        let off = PostgresUrl::parse("postgres://db1/shop?keepalives=0&hostaddr=10.0.0.1").unwrap();
        let [(_, one)] = &off.each_host()[..] else { panic!("one host") };
        assert_eq!((one.config.get_keepalives(), one.config.get_hostaddrs().len()), (false, 1));
    }

    #[test]
    fn every_form_of_a_host_has_a_name() {
        let name = |url: &str| PostgresUrl::parse(url).unwrap().each_host().remove(0).0;
        assert_eq!(name("postgres://db1/shop?hostaddr=10.0.0.1"), "db1:5432");
        assert_eq!(name("postgres:///shop?hostaddr=10.0.0.1"), "10.0.0.1:5432");
        #[cfg(unix)]
        assert_eq!(name("postgres://%2Frun%2Fpostgresql/shop"), "/run/postgresql:5432");
    }
}
