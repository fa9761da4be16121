<?php
// A check and a write that are two steps, as PHP is written: `PHP_CLI_SERVER_WORKERS=4 php -S 127.0.0.1:$PORT race.php`. Keeps files in
// DATA_DIR; GET responds with the state.
$folder = getenv('DATA_DIR') ?: '.';
$effects = "$folder/effects.txt";

if ($_SERVER['REQUEST_METHOD'] === 'GET') {
    echo file_exists($effects) ? file_get_contents($effects) : '';
    exit;
}
$message = json_decode(file_get_contents('php://input'), true);
$seen = "$folder/" . sha1($message['messageId']);
if (file_exists($seen)) {
    exit;
}
touch($seen);
file_put_contents($effects, "{$message['type']} {$message['messageId']}\n", FILE_APPEND | LOCK_EX);
