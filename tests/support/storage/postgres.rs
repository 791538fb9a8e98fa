//! A PostgreSQL server of the system's package, in a folder of its own. It ends with this process, however that ends.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use zeitnot_testing::{has_program, is_installed};

/// Where Debian has the programs of each version.
const PACKAGES: &str = "/usr/lib/postgresql";
/// User of the databases, and the password over TCP.
pub const USER: &str = "arena";
pub const PASSWORD: &str = "sesame";

/// Runs a script as an ordinary user: PostgreSQL refuses to run as root.
const AS_USER: &str = r#"
if [ "$(id -u)" = 0 ]; then
    exec setpriv --reuid=postgres --regid=postgres --init-groups sh -c "$@"
fi
exec sh -c "$@"
"#;
/// Runs a server until its input ends; carries out orders from there.
const SERVER: &str = r#"
bin=$1 port=$2
folder=$(mktemp -d) || exit 1
trap '' INT TERM
{
    "$bin/initdb" --pgdata="$folder/data" --username=postgres --auth=trust --no-sync --encoding=UTF8 --locale=C.UTF-8
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE \
        -keyout "$folder/key.pem" -out "$folder/certificate.pem" 2>&1
    chmod 600 "$folder/key.pem"
    echo 'local all all trust
host all all 127.0.0.1/32 scram-sha-256' >"$folder/data/pg_hba.conf"
    echo "unix_socket_directories = '$folder'
listen_addresses = '127.0.0.1'
port = $port
ssl = on
ssl_cert_file = '$folder/certificate.pem'
ssl_key_file = '$folder/key.pem'
fsync = off
full_page_writes = off
max_connections = 200" >>"$folder/data/postgresql.conf"
} >"$folder/log"
control() {
    "$bin/pg_ctl" --pgdata="$folder/data" --log="$folder/server.log" --wait --silent "$@" >>"$folder/log" 2>&1
}
if control start; then
    chmod 755 "$folder"
    echo "$folder"
    while read -r order; do
        case $order in
        stop) control stop --mode=fast ;;
        start) control start ;;
        esac
        echo done
    done
    control stop --mode=immediate
fi
rm -rf "$folder"
"#;

/// A server with databases for tests.
pub struct PostgresServer {
    bin: PathBuf,
    pub folder: PathBuf,
    pub port: u16,
    /// Orders to its script, and the answers.
    script: Mutex<(Option<ChildStdin>, BufReader<ChildStdout>)>,
    child: Child,
    databases: AtomicUsize,
}

impl PostgresServer {
    /// The server that the tests of this process share; `None` where there is none.
    pub fn shared() -> Option<&'static PostgresServer> {
        static SHARED: OnceLock<PostgresServer> = OnceLock::new();
        installed()?;
        // The process of a thread of its own, it outlives the test that starts it.
        let start = || thread::spawn(PostgresServer::start).join().unwrap();
        Some(SHARED.get_or_init(|| start().unwrap()))
    }

    /// A server of one's own, which ends when it is dropped.
    pub fn start() -> Option<PostgresServer> {
        let bin = installed()?;
        // Somebody else may take the port meanwhile.
        let server = (0..5).find_map(|_| PostgresServer::try_start(bin.clone()));
        Some(server.expect("PostgreSQL does not start"))
    }

    fn try_start(bin: PathBuf) -> Option<PostgresServer> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("sh");
        command.args(["-c", AS_USER, "sh", SERVER, "sh"]).arg(&bin).arg(port.to_string());
        command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = child.stdout.take().unwrap();
        let mut output = BufReader::new(output);
        let mut folder = String::new();
        output.read_line(&mut folder).unwrap();
        if folder.is_empty() {
            child.wait().unwrap();
            return None;
        }
        let folder = folder.trim_end().into();
        let script = Mutex::new((Some(input), output));
        let server = PostgresServer { bin, folder, port, script, child, databases: AtomicUsize::new(0) };
        server.sql("postgres", &format!("CREATE ROLE {USER} LOGIN PASSWORD '{PASSWORD}'"));
        Some(server)
    }

    /// Stops the server, or starts it again, and waits until that is done.
    pub fn order(&self, order: &str) {
        let mut script = self.script.lock().unwrap();
        writeln!(script.0.as_mut().unwrap(), "{order}").unwrap();
        let mut answer = String::new();
        script.1.read_line(&mut answer).unwrap();
        assert_eq!(answer, "done\n");
    }

    /// Creates a database, and returns its name.
    pub fn create(&self) -> String {
        let name = format!("arena{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name} OWNER {USER}"));
        name
    }

    /// URL of a database, by the server's socket.
    pub fn url(&self, database: &str) -> String {
        let folder = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://{USER}@{folder}:{}/{database}", self.port)
    }

    /// Runs statements as the server's administrator, and returns the rows of the last one.
    pub fn sql(&self, database: &str, statements: &str) -> String {
        let arguments = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--command", statements];
        self.run("psql", database, &arguments)
    }

    /// Runs a program of the package on a database as the server's administrator, and returns its output.
    pub fn run(&self, program: &str, database: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(self.bin.join(program));
        command.args(arguments).args(["--username=postgres", "--dbname", database, "--host"]);
        let output = command.arg(&self.folder).args(["--port", &self.port.to_string()]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }
}

/// The folder of the server's programs, if they and what its script needs are installed.
fn installed() -> Option<PathBuf> {
    let versions = fs::read_dir(PACKAGES).into_iter().flatten().flatten();
    let bin = versions.map(|version| version.path().join("bin")).find(|bin| bin.join("initdb").exists());
    let is_there = is_installed("postgresql", bin.is_some(), "apt-get install postgresql");
    (is_there && has_program("openssl", "openssl")).then_some(bin?)
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        // The end of its input ends the script.
        self.script.get_mut().unwrap().0 = None;
        let _ = self.child.wait();
    }
}
